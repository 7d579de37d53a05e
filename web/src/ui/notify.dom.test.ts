import { expect, test, vi } from 'vitest';
import { ApiError } from '../lib/api/api-error.ts';
import { currencyChoice } from '../lib/format/currency.ts';
import { errorMessage, notify } from './notify.ts';

const toast = vi.hoisted(() => ({
  error: vi.fn<(title: string, options?: object) => void>(),
}));
vi.mock('sonner', () => ({ toast }));

test('a toast does not inherit the description of an earlier toast with its id', async () => {
  toast.error.mockClear();
  notify.failure('Validation Error', { id: 'wizard', description: 'Epochs must be at least 1' });
  notify.failure('Failed to create model', { id: 'wizard' });
  await vi.dynamicImportSettled();
  expect(toast.error).toHaveBeenCalledTimes(2);
  const [, options] = toast.error.mock.calls[1] ?? [];
  expect(Object.keys(options ?? {})).toEqual(['id', 'description', 'action', 'duration']);
});

test('shows insufficient credit in the display currency', () => {
  const error = new ApiError('Insufficient balance. Required: 50 BGL. Available: 2 BGL.', {
    status: 402,
    code: 'insufficient_funds',
    requiredAmount: '50',
    availableAmount: '2',
  });
  currencyChoice.set('USD');
  expect(errorMessage(error)).toBe('Insufficient balance. Required: $2.00. Available: $0.08.');
  currencyChoice.set('BGL');
  expect(errorMessage(error)).toBe('Insufficient balance. Required: 50.00 BGL. Available: 2.00 BGL.');
});

test('shows the amounts of errors in the display currency', () => {
  currencyChoice.set('USD');
  const error = new ApiError('The run has cost 12.5 BGL so far. Set a limit above that', {
    status: 400,
    data: { template: 'The run has cost {cost} so far. Set a limit above that', amounts: { cost: '12.5' } },
  });
  expect(errorMessage(error)).toBe('The run has cost $0.50 so far. Set a limit above that');
  const budget = {
    ...{ key_id: 'k', key_name: 'robot', amount: '25', period: 'month' as const },
    renews_at: '2026-12-31T12:00:00Z',
  };
  const exceeded = new ApiError('No', { status: 402, code: 'budget_exceeded', data: { budget } });
  expect(errorMessage(exceeded)).toBe(
    'The budget of the API key ‘robot’ ($1.00 per month) does not cover this. It renews on 31 Dec 2026.',
  );
});

test('other errors show their own message', () => {
  expect(errorMessage(new Error('It broke'))).toBe('It broke');
  expect(errorMessage(new Error(''))).toBe('Please try again');
});
