import { render, screen } from '@testing-library/react';
import type { ComponentType } from 'react';
import { expect, test, vi } from 'vitest';
import { DeploymentState } from './deployment-state.tsx';

vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  createLink:
    (Component: ComponentType<{ href: string }>) =>
    ({ to, ...props }: { to: string }) => <Component href={to} {...props} />,
}));

const reason = 'You ran out of credit.';
const show = (stop_reason: 'credits' | 'budget' | null) =>
  render(
    <DeploymentState
      deployment={{ status: 'terminated', reason, stop_reason, progress: 100, cost_so_far: '5' }}
    />,
  );

test('a deployment stopped for lack of credit says so and links to buying more', () => {
  show('credits');
  expect(screen.getByText(reason)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
});

test('a deployment stopped for another reason does not link to credits', () => {
  show('budget');
  expect(screen.queryByRole('link')).toBeNull();
});
