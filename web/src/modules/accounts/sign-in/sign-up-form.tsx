import { ApiError } from '../../../lib/api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { PasswordInput } from '../password-input.tsx';
import { signUp } from './sign-in-calls.ts';
import { useAccountForm } from './use-account-form.ts';

/** Maps the server's error codes to fields. */
const fields = new Map([
  ['username_taken', 'username'],
  ['password_too_common', 'password'],
]);

export function SignUpForm({ onDone }: { onDone: () => Promise<void> }) {
  const { errors, pending, onSubmit } = useAccountForm({
    // Loads the contract's rules with the first check.
    check: async (values) => (await import('./check-sign-up.ts')).checkSignUp(values),
    submit: async (form) => {
      await signUp(form);
      await onDone();
    },
    fieldOf: (error) => (error instanceof ApiError ? (fields.get(error.code) ?? null) : null),
  });
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field label="Username" error={errors.username} help="Other users can send you credits by this name.">
        <Input name="username" autoComplete="username" autoCapitalize="none" spellCheck={false} />
      </Field>
      <Field label="Email" error={errors.email}>
        <Input name="email" type="email" autoComplete="email" />
      </Field>
      <Field
        label="Password"
        error={errors.password}
        help={errors.password ? undefined : 'At least 8 characters.'}
      >
        <PasswordInput name="password" autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Sign up
      </Button>
    </form>
  );
}
