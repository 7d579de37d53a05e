import type { Run } from '@bakehouse/contract/runs';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { RunOutcome } from './run-outcome.tsx';

test('shows why a run was stopped', () => {
  const reason = 'The run reached its spending limit. The work was saved.';
  const run = { state: 'cancelled', stop_reason: 'ceiling', reason, charged: null, summary: null };
  render(<RunOutcome run={run as unknown as Run} />);
  expect(screen.getByText(reason)).toBeTruthy();
});

test.each([
  [8, 'kept from step 8, base model 3.204'],
  [12, 'base model 3.204'],
  [undefined, 'base model 3.204'],
])('a run of 12 steps whose best was %s shows the held-out loss as: %s', (best_step, note) => {
  const summary = { eval_loss: 1.963, eval_loss_base: 3.204, best_step };
  const run = { state: 'completed', summary, steps_total: 12, charged: null, quote: { total: '1' } };
  render(<RunOutcome run={{ ...run, elapsed_seconds: 27, device: 'cpu' } as unknown as Run} />);
  expect(screen.getByText(note)).toBeTruthy();
});

test('a run that learned preferences shows its share of correct held-out rows', () => {
  const run = {
    state: 'completed',
    steps_total: 12,
    charged: null,
    quote: { total: '1' },
    elapsed_seconds: 27,
  };
  const shown = (summary: object, objective = 'dpo') =>
    ({ ...run, kind: 'text', device: 'cpu', summary, parameters: { objective } }) as unknown as Run;
  const { rerender } = render(<RunOutcome run={shown({ eval_reward_accuracy: 0.9333 })} />);
  expect(screen.getByText('Preferred the better answer in 93% of held-out rows.')).toBeTruthy();
  rerender(<RunOutcome run={shown({ eval_reward_accuracy: 0.5 }, 'kto')} />);
  expect(screen.getByText('Preferred the good answer in 50% of held-out pairs.')).toBeTruthy();
  rerender(<RunOutcome run={shown({ eval_loss: 1 })} />);
  expect(screen.queryByText(/prefers/)).toBeNull();
});

test('a run that learned from rewards shows the held-out reward instead of the loss', () => {
  const summary = { eval_loss: null, eval_reward: 0.75, eval_reward_base: 0.125, best_step: 8 };
  const run = { state: 'completed', summary, steps_total: 12, charged: null, quote: { total: '1' } };
  render(<RunOutcome run={{ ...run, elapsed_seconds: 27, device: 'cpu' } as unknown as Run} />);
  expect(screen.getByText('0.750')).toBeTruthy();
  expect(screen.getByText('kept from step 8, base model 0.125')).toBeTruthy();
  expect(screen.queryByText('Held-out loss')).toBeNull();
});

test('a run that stopped early shows where and why', () => {
  const run = {
    ...{ state: 'completed', steps_total: 4_096, charged: null, quote: { total: '1' } },
    ...{ elapsed_seconds: 27, device: 'cpu' },
  };
  const shown = (summary: object) => ({ ...run, summary }) as unknown as Run;
  const { rerender } = render(
    <RunOutcome run={shown({ stopped_early: 3, steps: 1_024, best_step: 1_024, train_loss_end: 1 })} />,
  );
  const sentence = 'Stopped early at step 1,024 of 4,096: the held-out loss did not fall in 3 evaluations.';
  expect(screen.getByText(sentence)).toBeTruthy();
  expect(screen.getByText('mean of the last 102 steps')).toBeTruthy();
  expect(screen.queryByText(/kept from/)).toBeNull();
  rerender(<RunOutcome run={shown({})} />);
  expect(screen.queryByText(/Stopped early/)).toBeNull();
});

test('a cancelled run shows its progress if training had begun', () => {
  const run = {
    ...{ state: 'cancelled', stop_reason: null, reason: 'Cancelled.', charged: '0', summary: null },
    resume_hold: '1',
  };
  const at = (step: number, elapsed_seconds = 125) =>
    ({ ...run, step, steps_total: 1_440, elapsed_seconds }) as unknown as Run;
  const { container, rerender } = render(<RunOutcome run={at(1_210)} />);
  expect(container.textContent).toContain(
    'It reached step 1,210 of 1,440 in 2 min 5 s. You were not charged.',
  );
  // Unsaved work isn't counted.
  rerender(<RunOutcome run={at(2, 0)} />);
  expect(container.textContent).toContain('It reached step 2 of 1,440. You were not charged.');
  rerender(<RunOutcome run={at(0)} />);
  expect(container.textContent).not.toContain('step');
  expect(container.textContent).not.toContain('resumed');
  rerender(<RunOutcome run={{ ...at(0), resume_hold: null }} />);
  expect(container.textContent).toContain('deleted after seven days, so it cannot be resumed.');
});

test("an export shows how many answers match the fine-tune's", () => {
  const summary = { prompts: 5, equal_answers: 4, size_bytes: 144_000_000 };
  const run = {
    ...{ kind: 'export', state: 'completed', summary, parameters: { format: 'gguf_q8_0' } },
    ...{ charged: null, quote: { total: '1' }, elapsed_seconds: 27, device: 'cpu' },
  };
  render(<RunOutcome run={run as unknown as Run} />);
  expect(screen.getByText('4 of 5')).toBeTruthy();
  expect(screen.getByText('GGUF Q8_0')).toBeTruthy();
});
