import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { signIn } from './sign-in-calls.ts';
import { SignInForm } from './sign-in-form.tsx';

vi.mock('./sign-in-calls.ts', () => ({ signIn: vi.fn<typeof signIn>() }));

beforeEach(() => {
  cleanup();
  vi.clearAllMocks();
});

it('rejects an invalid email address below its field, without a request', async () => {
  render(<SignInForm onDone={async () => undefined} />);
  await userEvent.type(screen.getByLabelText('Email'), 'ada');
  await userEvent.type(screen.getByLabelText('Password'), 'a long password{Enter}');
  const email = screen.getByLabelText('Email');
  expect(email.getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByText(/Enter a complete email address/)).toBeTruthy();
  expect(signIn).not.toHaveBeenCalled();
  await userEvent.type(email, '@example.com{Enter}');
  expect(signIn).toHaveBeenCalledWith({ email: 'ada@example.com', password: 'a long password' });
});

it('two simultaneous submissions sign in once, and a rejected one can be retried', async () => {
  let refuse = (_error: Error): void => undefined;
  vi.mocked(signIn).mockImplementation(() => new Promise((_answer, reject) => (refuse = reject)));
  render(<SignInForm onDone={async () => undefined} />);
  await userEvent.type(screen.getByLabelText('Email'), 'ada@example.com');
  await userEvent.type(screen.getByLabelText('Password'), 'a long password');
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Sign in' });
  const { form } = button;
  act(() => {
    form?.requestSubmit();
    form?.requestSubmit();
  });
  await vi.waitFor(() => expect(signIn).toHaveBeenCalled());
  await act(async () => refuse(new Error('Wrong password')));
  expect(signIn).toHaveBeenCalledTimes(1);
  expect(await screen.findByText('Wrong password')).toBeTruthy();
  act(() => form?.requestSubmit());
  await vi.waitFor(() => expect(signIn).toHaveBeenCalledTimes(2));
});
