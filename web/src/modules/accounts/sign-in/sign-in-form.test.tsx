import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { signIn } from '../api.ts';
import { SignInForm } from './sign-in-form.tsx';

vi.mock('../api.ts', () => ({ signIn: vi.fn<typeof signIn>() }));

it('refuses what is no email address under its field, without asking the server', async () => {
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
