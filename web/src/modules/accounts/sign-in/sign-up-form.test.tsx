import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { signUp } from './sign-in-calls.ts';
import { SignUpForm } from './sign-up-form.tsx';

vi.mock('./sign-in-calls.ts', () => ({ signUp: vi.fn<typeof signUp>() }));

const onDone = vi.fn<() => Promise<void>>();
const field = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

async function fill(values: Record<string, string>) {
  for (const [name, text] of Object.entries(values)) await userEvent.type(field(name), text);
  await userEvent.click(screen.getByRole('button', { name: 'Sign up' }));
}

beforeEach(() => {
  vi.clearAllMocks();
  render(<SignUpForm onDone={onDone} />);
});

test('reports invalid fields, focuses the first, sends nothing and keeps the input', async () => {
  await fill({ Username: 'ada', Email: 'ada', Password: 'short' });
  expect(await screen.findByText('Enter a valid email address')).toBeTruthy();
  expect(screen.getByText('Password must have at least 8 characters')).toBeTruthy();
  // The help is replaced by the error.
  expect(screen.queryByText('At least 8 characters.')).toBeNull();
  expect(document.activeElement).toBe(field('Email'));
  expect(field('Username').value).toBe('ada');
  expect(signUp).not.toHaveBeenCalled();
});

test('reports a taken username at its field', async () => {
  vi.mocked(signUp).mockRejectedValue(
    new ApiError('This username is taken', { status: 422, code: 'username_taken' }),
  );
  await fill({ Username: 'ada', Email: 'ada@example.com', Password: 'a long password' });
  expect(await screen.findByText('This username is taken')).toBeTruthy();
  expect(field('Username').getAttribute('aria-invalid')).toBe('true');
  expect(onDone).not.toHaveBeenCalled();
});

test('continues once the account exists', async () => {
  vi.mocked(signUp).mockResolvedValue();
  await fill({ Username: 'Ada', Email: 'ada@example.com', Password: 'a long password' });
  await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(signUp).toHaveBeenCalledWith({
    username: 'ada',
    email: 'ada@example.com',
    password: 'a long password',
  });
});
