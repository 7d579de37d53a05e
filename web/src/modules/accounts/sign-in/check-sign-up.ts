import { signUpForm } from '@bakehouse/contract/accounts';
import type { SignUp } from './sign-in-calls.ts';
import type { FormErrors } from './use-account-form.ts';

/** The server's own rules for an account, but with a username: a person should know theirs. */
const schema = signUpForm.omit({ name: true }).required({ username: true });

/** The first sentence for each field that is not right, or the values in the form that the server keeps. */
export function checkSignUp(values: Record<string, string>): { values: SignUp } | { errors: FormErrors } {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { values: parsed.data };
  const errors: FormErrors = {};
  for (const { path, message } of parsed.error.issues) errors[String(path[0])] ??= message;
  return { errors };
}
