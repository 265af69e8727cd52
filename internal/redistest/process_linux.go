package redistest

import "syscall"

// withUs has a process end when this one does, whatever ends it.
func withUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
