package main

import (
	"context"
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"

	"crossgate/order"
)

// supervised notifies systemd that the gateway is ready, then that it is alive while it answers, and that it stops when
// ctx ends; done returns after the last notification. Without systemd it does nothing (sd_notify(3)).
func supervised(ctx context.Context, health string, log *slog.Logger) (done func()) {
	tell := func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			log.Warn("systemd notification failed", "error", err)
		}
	}
	tell(daemon.SdNotifyReady)
	stopping := context.AfterFunc(ctx, func() { tell(daemon.SdNotifyStopping) })
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil || within == 0 {
		return func() { stopping() }
	}
	// A draining gateway still answers, so the watchdog outlives ctx.
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for isOn := true; isOn; isOn = order.Wait(watching, within/3, nil) {
			if _, err := askHealth(watching, health); err == nil {
				tell(daemon.SdNotifyWatchdog)
			} else if watching.Err() == nil {
				log.Warn("self health check failed; systemd restarts the gateway if that lasts", "error", err)
			}
		}
	}()
	return func() {
		stopping()
		end()
		<-ended
	}
}
