import type { Run } from '@bakehouse/contract/training';
import { act, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { RunOutcome } from './run-outcome.tsx';

test('why a run was stopped is said in the chosen currency, also after it is switched', () => {
  currencyChoice.set('USD');
  const reason = 'The run reached its ceiling of 12.5 BGL. The work was saved.';
  const run = { state: 'cancelled', stop_reason: 'ceiling', reason, charged: null, summary: null };
  render(<RunOutcome run={run as unknown as Run} />);
  expect(screen.getByText('The run reached its ceiling of $0.50. The work was saved.')).toBeTruthy();
  act(() => currencyChoice.set('BGL'));
  expect(screen.getByText('The run reached its ceiling of 12.50 BGL. The work was saved.')).toBeTruthy();
});
