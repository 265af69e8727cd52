package postgrestest

import "syscall"

// withUs has a process end when this one does, whatever ends it.
func withUs(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
}
