package shared

import (
	"context"
	"sync"

	"github.com/gomodule/redigo/redis"
)

// mostUnanswered limits the commands that await their replies, including those whose callers gave up.
const mostUnanswered = 1024

// pipeline is a connection that any number of callers use concurrently. Commands that several callers send at the same
// time are written together, and the server replies in their sequence. A caller that leaves costs nothing: its reply is
// read and dropped.
type pipeline struct {
	connection redis.Conn
	asked      chan *exchange // to be sent
	unanswered chan *exchange // sent or about to be, oldest first
	ended      chan struct{}  // closed when the connection is lost or closed
	ending     sync.Once
	cause      error // why it ended; may be read after ended is closed
	running    sync.WaitGroup
}

type exchange struct {
	command   string
	arguments []any
	done      chan struct{} // closed when reply and err are set
	reply     any
	err       error
}

// newPipeline takes over a connection. Close the pipeline.
func newPipeline(connection redis.Conn) *pipeline {
	p := &pipeline{
		connection: connection, asked: make(chan *exchange), unanswered: make(chan *exchange, mostUnanswered),
		ended: make(chan struct{}),
	}
	p.running.Go(func() { p.end(p.write()) })
	p.running.Go(func() { p.end(p.read()) })
	return p
}

// do runs a command on the server. An error of type redis.Error is the server's reply.
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

// write sends queued commands until the connection ends, and flushes whenever the queue is empty.
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

// send flushes first if the limit of unanswered commands is reached, since buffered commands get no replies.
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

// read delivers replies to their callers until the connection ends.
func (p *pipeline) read() error {
	for {
		select {
		case <-p.ended:
			return nil
		case e := <-p.unanswered:
			e.reply, e.err = redis.ReceiveWithTimeout(p.connection, 0) // silence is detected by pings
			close(e.done)
			if err := p.connection.Err(); err != nil {
				return err
			}
		}
	}
}

// end ends the connection, recording the first cause.
func (p *pipeline) end(cause error) {
	p.ending.Do(func() {
		p.cause = cause
		close(p.ended)
		_ = p.connection.Close()
	})
}

// close ends the connection and waits until it has ended.
func (p *pipeline) close() {
	p.end(errUnavailable)
	p.running.Wait()
}

// runs runs a script on the server, sending its text only if the server does not know it.
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
