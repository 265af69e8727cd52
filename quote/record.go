package quote

import (
	"sync"
	"time"
)

// Record is what became of a venue since the estimator was made.
type Record struct {
	Name                                  string // of the venue
	Won, Outbid, Refused, Silent, LeftOut uint64
	Took                                  time.Duration // its latest quote; zero before that
	Reason                                string        // of its latest refusal; empty when there was none
	At                                    time.Time     // of that
	FailingSince                          time.Time     // it has given nothing but failures for a day or more; zero: not so
}

// Records returns what became of every venue, in the sequence in which they were given.
func (e *Estimator) Records() []Record {
	records := make([]Record, len(e.venues))
	e.tally.mu.Lock()
	defer e.tally.mu.Unlock()
	for i, each := range e.venues {
		name := each.profile.Name
		records[i] = Record{Name: name}
		if kept := e.tally.venues[name]; kept != nil {
			records[i] = *kept
		}
		if series := e.failures.of(name); series.isFailing() {
			records[i].FailingSince = series.first
		}
	}
	return records
}

// tally keeps the records of venues by name.
type tally struct {
	mu     sync.Mutex
	venues map[string]*Record
}

func (t *tally) add(now time.Time, all []Asked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range all {
		t.record(all[i].Venue).note(now, &all[i])
	}
}

func (t *tally) record(venue string) *Record {
	if t.venues == nil {
		t.venues = make(map[string]*Record)
	}
	if t.venues[venue] == nil {
		t.venues[venue] = &Record{Name: venue}
	}
	return t.venues[venue]
}

func (r *Record) note(now time.Time, a *Asked) {
	switch a.Verdict {
	case Won:
		r.Won++
	case Outbid:
		r.Outbid++
	case Refused:
		r.Refused++
		if a.Err != nil {
			r.Reason, r.At = a.Err.Error(), now
		}
	case Silent:
		r.Silent++
	case LeftOut:
		r.LeftOut++
		return
	}
	if a.Took > 0 {
		r.Took = a.Took
	}
}
