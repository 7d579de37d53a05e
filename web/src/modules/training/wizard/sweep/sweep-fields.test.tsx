import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { initialState, type WizardAction } from '../wizard-state.ts';
import { type SweepDraft, sweepProblem } from './sweep-draft.ts';
import { SweepFields } from './sweep-fields.tsx';

function Form({ isTried = false, begunWith = [] }: { isTried?: boolean; begunWith?: SweepDraft }) {
  const [sweep, setSweep] = useState<SweepDraft>(begunWith);
  const problem = isTried ? sweepProblem(sweep, initialState.parameters) : undefined;
  const dispatch = (action: WizardAction) => action.do === 'change' && setSweep(action.values.sweep ?? []);
  const problems = problem === undefined ? {} : { sweep: problem };
  return <SweepFields wizard={{ state: { ...initialState, sweep }, problems, dispatch }} />;
}

test('is folded until somebody wants it, and counts the runs of two parameters', async () => {
  render(<Form />);
  expect(screen.queryByText(/^Tries several values/)).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Sweep' }));
  expect(screen.queryByRole('combobox', { name: 'Second parameter' })).toBeNull();
  await userEvent.click(screen.getByRole('combobox', { name: 'First parameter' }));
  await userEvent.click(await screen.findByRole('option', { name: 'Learning rate' }));
  expect(screen.queryByRole('option', { name: 'Beta' })).toBeNull();
  await screen.findByText('3 runs, each with a model.');
  await userEvent.click(screen.getByRole('combobox', { name: 'Second parameter' }));
  await userEvent.click(await screen.findByRole('option', { name: 'LoRA rank' }));
  const ranks = screen.getByLabelText('LoRA rank values');
  await userEvent.clear(ranks);
  await userEvent.type(ranks, '4 8');
  await screen.findByText('6 runs, each with a model.');
});

test('says at its field what is wrong with a value, once somebody has tried', () => {
  const begunWith: SweepDraft = [{ parameter: 'lora_r', values: '4, 512' }];
  const { rerender } = render(<Form begunWith={begunWith} />);
  expect(screen.queryByText('LoRA rank must be at most 256')).toBeNull();
  rerender(<Form begunWith={begunWith} isTried />);
  expect(screen.getByText('LoRA rank must be at most 256')).toBeTruthy();
  expect(screen.getByLabelText('LoRA rank values').getAttribute('aria-invalid')).toBe('true');
});
