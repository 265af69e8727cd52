package shared

import (
	"context"
	"sync"

	"github.com/gomodule/redigo/redis"
)

// mostUnanswered bounds how many commands wait for their reply, those whose callers gave up included.
const mostUnanswered = 1024

// pipeline is one connection on which any number of callers ask at the same time. What several want to send at once is
// written together, and the server replies in the sequence in which it was asked. A caller that leaves costs nothing:
// its reply is read and dropped.
type pipeline struct {
	connection redis.Conn
	asked      chan *exchange // to be sent
	unanswered chan *exchange // that was sent or is about to be, oldest first
	ended      chan struct{}  // closed when the connection is lost or closed
	ending     sync.Once
	cause      error // why it ended; read it after ended
	running    sync.WaitGroup
}

type exchange struct {
	command   string
	arguments []any
	done      chan struct{} // closed when reply and err are there
	reply     any
	err       error
}

// newPipeline takes over a connection. Close it.
func newPipeline(connection redis.Conn) *pipeline {
	p := &pipeline{
		connection: connection, asked: make(chan *exchange), unanswered: make(chan *exchange, mostUnanswered),
		ended: make(chan struct{}),
	}
	p.running.Go(func() { p.end(p.write()) })
	p.running.Go(func() { p.end(p.read()) })
	return p
}

// do has the server carry out a command. An error of type redis.Error is the server's reply.
func (p *pipeline) do(ctx context.Context, command string, arguments ...any) (any, error) {
	e := &exchange{command: command, arguments: arguments, done: make(chan struct{})}
	select {
	case p.asked <- e:
	case <-p.ended:
		return nil, p.cause
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-e.done:
		return e.reply, e.err
	case <-p.ended:
		return nil, p.cause
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write sends queued calls until the connection ends, and flushes them at the end of the queue.
func (p *pipeline) write() error {
	for {
		select {
		case <-p.ended:
			return nil
		case e := <-p.asked:
			for e != nil {
				if err := p.send(e); err != nil {
					return err
				}
				select {
				case e = <-p.asked:
				default:
					e = nil
				}
			}
			if err := p.connection.Flush(); err != nil {
				return err
			}
		}
	}
}

// send flushes first where as many replies as allowed are due: they are due for calls that were sent, not for buffered
// ones.
func (p *pipeline) send(e *exchange) error {
	select {
	case p.unanswered <- e:
	default:
		if err := p.connection.Flush(); err != nil {
			return err
		}
		select {
		case p.unanswered <- e:
		case <-p.ended:
			return nil
		}
	}
	return p.connection.Send(e.command, e.arguments...)
}

// read hands replies to those who asked until the connection ends.
func (p *pipeline) read() error {
	for {
		select {
		case <-p.ended:
			return nil
		case e := <-p.unanswered:
			e.reply, e.err = redis.ReceiveWithTimeout(p.connection, 0) // silence is noticed by pings
			close(e.done)
			if err := p.connection.Err(); err != nil {
				return err
			}
		}
	}
}

// end ends the connection, for the first cause that there is.
func (p *pipeline) end(cause error) {
	p.ending.Do(func() {
		p.cause = cause
		close(p.ended)
		_ = p.connection.Close()
	})
}

// close returns when the connection has ended.
func (p *pipeline) close() {
	p.end(errUnavailable)
	p.running.Wait()
}

// runs has the server run a script, which it is sent once.
func (p *pipeline) runs(ctx context.Context, s script, keys []string, arguments ...string) ([]any, error) {
	parameters := make([]any, 0, 2+len(keys)+len(arguments))
	parameters = append(parameters, s.digest, len(keys))
	for _, each := range keys {
		parameters = append(parameters, each)
	}
	for _, each := range arguments {
		parameters = append(parameters, each)
	}
	reply, err := p.do(ctx, "EVALSHA", parameters...)
	if isUnknownScript(err) {
		parameters[0] = s.text
		reply, err = p.do(ctx, "EVAL", parameters...)
	}
	return redis.Values(reply, err)
}
