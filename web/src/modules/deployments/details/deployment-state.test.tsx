import { act, render, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { DeploymentState } from './deployment-state.tsx';

vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  createLink:
    (Component: ComponentType<{ href: string }>) =>
    ({ to, ...props }: { to: string }) => <Component href={to} {...props} />,
}));

afterEach(() => currencyChoice.set('USD'));

const reason = 'You ran out of credit. Insufficient balance. Required: 1.25 BGL. Available: 0.25 BGL.';
const show = (stop_reason: 'credits' | 'budget' | null) =>
  render(
    <DeploymentState
      deployment={{ status: 'terminated', reason, stop_reason, progress: 100, cost_so_far: '5' }}
    />,
  );

test('a deployment stopped for lack of credit says so in the current currency and links to buying more', () => {
  show('credits');
  expect(screen.getByText(/Required: \$0\.05\. Available: \$0\.01\./)).toBeTruthy();
  act(() => currencyChoice.set('BGL'));
  expect(screen.getByText(/Required: 1\.25 BGL\./)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
});

test('a deployment stopped for another reason does not link to credits', () => {
  show('budget');
  expect(screen.queryByRole('link')).toBeNull();
});
