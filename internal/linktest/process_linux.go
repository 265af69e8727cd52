package linktest

import "syscall"

// EndsWithUs makes a process receive a signal however this one ends, and run as a user; nil is the current one.
func EndsWithUs(as *syscall.Credential, by syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Pdeathsig: by}
}
