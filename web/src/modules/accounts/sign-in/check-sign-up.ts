import { signUpForm } from '@bakehouse/contract/accounts';
import type { SignUp } from './sign-in-calls.ts';
import type { FormErrors } from './use-account-form.ts';

/** The server's rules, except that the username is required: users should know theirs. */
const schema = signUpForm.omit({ name: true }).required({ username: true });

/** Returns the first problem of each invalid field, or the normalized values. */
export function checkSignUp(values: Record<string, string>): { values: SignUp } | { errors: FormErrors } {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { values: parsed.data };
  const errors: FormErrors = {};
  for (const { path, message } of parsed.error.issues) errors[String(path[0])] ??= message;
  return { errors };
}
