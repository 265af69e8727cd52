//go:build !linux

package redis

import "syscall"

func withUs() *syscall.SysProcAttr { return nil }
