//go:build !linux

package redistest

import "syscall"

func withUs() *syscall.SysProcAttr { return nil }
