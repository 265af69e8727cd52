package linktest

import "syscall"

// EndsWithUs has a process get a signal when this one ends, whatever ends it, and run as a user; nil: as we are.
func EndsWithUs(as *syscall.Credential, by syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: by}
}
