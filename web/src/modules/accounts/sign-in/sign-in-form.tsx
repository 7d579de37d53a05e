import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { PasswordInput } from '../password-input.tsx';
import { emailProblem } from './check-email.ts';
import { type SignIn, signIn } from './sign-in-calls.ts';
import { useAccountForm } from './use-account-form.ts';

export function SignInForm({ onDone }: { onDone: () => Promise<void> }) {
  const { errors, pending, onSubmit } = useAccountForm<SignIn>({
    check: async ({ email = '', password = '' }) => {
      const refusal = emailProblem(email);
      return password && !refusal
        ? { values: { email: email.trim(), password } }
        : {
            errors: {
              ...(refusal && { email: refusal }),
              ...(!password && { password: 'Enter your password' }),
            },
          };
    },
    submit: async (form) => {
      await signIn(form);
      await onDone();
    },
  });
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field label="Email" error={errors.email}>
        <Input name="email" type="email" autoComplete="email" />
      </Field>
      <Field label="Password" error={errors.password}>
        <PasswordInput name="password" autoComplete="current-password" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Sign in
      </Button>
    </form>
  );
}
