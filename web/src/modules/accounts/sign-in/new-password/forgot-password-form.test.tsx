import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { signInMethodsQuery } from '../sign-in-calls.ts';
import { ForgotPasswordForm } from './forgot-password-form.tsx';

const call = vi.hoisted(() => vi.fn());
vi.mock('../../../../lib/api/api-client.ts', async (original) => ({ ...(await original<object>()), call }));
vi.mock('../auth-request.ts', () => ({ authRequest: async () => ({}) }));

afterEach(() => {
  cleanup();
  queryClient.clear();
});

test.each([
  [true, 'We will send you a link to choose a new password.', 'Check your mail'],
  [
    false,
    'This server sends no email. Its operator will give you the link.',
    'Ask the operator for your link',
  ],
  [undefined, null, 'Your request was received'],
])('with a server that sends email: %s, shows the matching text only', async (sendsMail, help, sent) => {
  call.mockReturnValue(new Promise(() => undefined));
  if (sendsMail !== undefined)
    queryClient.setQueryData(signInMethodsQuery.queryKey, { sends_mail: sendsMail } as never);
  const { container } = render(
    <QueryClientProvider client={queryClient}>
      <ForgotPasswordForm />
    </QueryClientProvider>,
  );
  if (help) expect(screen.getByText(help)).toBeTruthy();
  else expect(container.textContent).not.toMatch(/send/);
  await userEvent.type(screen.getByLabelText('Email'), 'ada@example.com');
  await userEvent.click(screen.getByRole('button', { name: 'Request a link' }));
  expect(await screen.findByText(sent)).toBeTruthy();
});
