package quote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoTransaction means that no venue with a possible route made a transaction. Errors also wrap each venue's reason.
var ErrNoTransaction = errors.New("no venue made a transaction")

// noVenueFits returns the error of a request for which every venue was left out.
func noVenueFits(leftOut []Asked) error {
	var reasons causes
	fault := ErrNoRoute
	for _, one := range leftOut {
		reasons = append(reasons, fmt.Errorf("%s: %w", one.Venue, one.Err))
		if errors.Is(one.Err, ErrNoAffiliate) {
			fault = ErrNoAffiliate
		}
	}
	return fmt.Errorf("%w: %v", fault, reasons)
}

// failure explains the lack of an answer: the request's fault if a decisive one occurred or the venues agree,
// ErrNoRoute if they disagree about the fault, otherwise ErrNoTransaction with the venues' failures.
func (c *comparison) failure() error {
	var faults, failures, absent causes
	for _, one := range c.rejected {
		if one.Verdict == LeftOut {
			continue
		}
		err := fmt.Errorf("%s: %w", one.Venue, one.Err)
		if isDecisive(err) {
			return err
		}
		switch {
		case errors.Is(one.Err, ErrUnsupportedChain): // although its profile lists the chain
			absent = append(absent, err)
		case requestFault(one.Err) != nil:
			faults = append(faults, err)
		default:
			failures = append(failures, err)
		}
	}
	if len(faults)+len(failures) == 0 && len(absent) > 0 {
		return fmt.Errorf("%w: %v", ErrUnsupportedChain, absent)
	}
	if len(faults) == 0 || c.quoted && len(failures) > 0 {
		for _, o := range c.candidates { // those that are only compared
			failures = append(failures, fmt.Errorf("%s: %w", o.profile.Name, o.compareOnly))
		}
		return fmt.Errorf("%w: %w", ErrNoTransaction, failures)
	}
	shared := requestFault(faults[0])
	if slices.ContainsFunc(c.rejected, func(one Asked) bool { return errors.Is(one.Err, ErrNoAffiliate) }) {
		return fmt.Errorf("%w: %v", ErrNoAffiliate, append(faults, failures...))
	}
	for _, fault := range faults {
		if !errors.Is(fault, shared) {
			shared = ErrNoRoute
		}
	}
	// Venues that did not answer are mentioned, but do not decide the error.
	return fmt.Errorf("%w: %v", shared, append(faults, failures...))
}

// isDecisive reports whether err would stop every venue's transaction for the request.
func isDecisive(err error) bool {
	return errors.Is(err, ErrSenderLacks) || errors.Is(err, ErrNoMinimum)
}

// requestFault returns the sentinel by which err blames the request, nil if it does not.
func requestFault(err error) error {
	for _, fault := range []error{ErrUnsupportedTokenIn, ErrUnsupportedTokenOut, ErrNoRoute, ErrUnsupportedChain} {
		if errors.Is(err, fault) {
			return fault
		}
	}
	return nil
}

// causes is a list of errors printed in one line.
type causes []error

func (c causes) Error() string {
	texts := make([]string, len(c))
	for i, err := range c {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (c causes) Unwrap() []error { return c }
