//go:build !linux

package postgres

import "syscall"

func withUs(as *syscall.Credential) *syscall.SysProcAttr { return &syscall.SysProcAttr{Credential: as} }
