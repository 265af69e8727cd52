//go:build !linux

package linktest

import "syscall"

// EndsWithUs has a process run as a user; nil: as we are.
func EndsWithUs(as *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as}
}
