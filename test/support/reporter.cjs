'use strict';

// A reporter for lab: one line of JSON a test as it ends, and a last one that says the file came to its end.
// Lab loads reporters with require and gives them their `report`.
module.exports = class Reporter {
  start() {}

  test(test) {
    const state = test.err ? 'failed' : test.skipped || test.todo ? 'skipped' : 'passed';
    this.report(`${JSON.stringify({ state, title: test.title })}\n`);
  }

  end() {
    this.report(`${JSON.stringify({ state: 'ended' })}\n`);
  }
};
