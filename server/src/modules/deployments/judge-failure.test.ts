import { describe, expect, it } from 'vitest';
import { type Concerned, judgeFailure } from './judge-failure.ts';

const proven = { revisionId: 'old', proven: true, failed: true, served: false };
const untried = { revisionId: 'new', proven: false, failed: true, served: false };
const other = { revisionId: 'other', proven: false, failed: true, served: false };
const down = { isUp: false, cautious: false };

function adaptersOf(live: Concerned[]) {
  return live.map((one) => ({ revisionId: one.revisionId, proven: one.proven }));
}

function judge(live: Concerned[], adapters: string[] | null, server = down) {
  return judgeFailure(live, adapters && { adapters }, { ...server, adapters: adaptersOf(live) });
}

describe('judgeFailure', () => {
  const nobody = { doomed: [], resting: [], cautious: false, serverFailed: false };

  it('has nothing to say where nothing failed', () => {
    expect(judge([proven], null)).toEqual(nobody);
  });

  it('ends the one new adapter alone; the starter model stays, even with no other deployment', () => {
    expect(judge([proven, untried], ['old', 'new'])).toEqual({ ...nobody, doomed: [untried] });
    expect(judge([untried], ['new'])).toEqual({ ...nobody, doomed: [untried] });
  });

  it('ends none of several new ones, and has them tried one by one', () => {
    expect(judge([untried, other], ['new', 'other'])).toEqual({ ...nobody, cautious: true });
  });

  it('where the server failed lets those sleep that have answered before, and ends the others', () => {
    const bare = { ...other, revisionId: 'base alone' };
    const judgement = judgeFailure(
      [proven, bare],
      { adapters: ['old'] },
      { ...down, adapters: adaptersOf([proven]) },
    );
    expect(judgement).toEqual({ doomed: [bare], resting: [proven], cautious: false, serverFailed: true });
  });

  it('leaves alone who is served by a workload that is up', () => {
    const served = { ...proven, served: true };
    expect(judge([served], ['old'], { ...down, isUp: true })).toEqual(nobody);
  });
});
