// Package paper runs the experiments of Gal & Turner (2015) and some that they
// did not run, and makes tables and figures of the results.
//
// An experiment (a set) is a list of fits. Each leaves a line of JSON in a
// file of the set's name, PREFIX-SET.jsonl, with the machine, the commit and
// all that tables and figures need: those are made from such files alone. A
// run that was interrupted goes on where it ended; a line stays where it is
// until it is asked for anew.
//
// Test data never take part in a fit or in a choice. Methods of one experiment
// get the same rows and the same starting information.
package paper
