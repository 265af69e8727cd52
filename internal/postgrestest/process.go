//go:build !linux

package postgrestest

import "syscall"

func withUs(as *syscall.Credential) *syscall.SysProcAttr { return &syscall.SysProcAttr{Credential: as} }
