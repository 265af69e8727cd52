//go:build !linux

package index

import "syscall"

func withUs(as *syscall.Credential) *syscall.SysProcAttr { return &syscall.SysProcAttr{Credential: as} }
