import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { emailProblem } from '../check-email.ts';
import { requestPasswordReset, signInMethodsQuery } from '../sign-in-calls.ts';
import { useAccountForm } from '../use-account-form.ts';

/** Requests a link to choose a new password. */
export function ForgotPasswordForm() {
  const [asked, setAsked] = useState(false);
  const { errors, pending, onSubmit } = useAccountForm<string>({
    check: async ({ email = '' }) => {
      const refusal = emailProblem(email);
      return refusal ? { errors: { email: refusal } } : { values: email.trim() };
    },
    submit: async (email) => {
      await requestPasswordReset(email);
      setAsked(true);
    },
  });
  const sendsMail = useQuery(signInMethodsQuery).data?.sends_mail;
  if (asked) {
    if (sendsMail === undefined)
      return (
        <Callout title="Your request was received">
          If there is an account with this address, a link to choose a new password has been created. Check
          your mail, or ask the operator of this server.
        </Callout>
      );
    return sendsMail ? (
      <Callout title="Check your mail">
        If there is an account with this address, the link is on its way. It works for an hour.
      </Callout>
    ) : (
      <Callout title="Ask the operator for your link">
        If there is an account with this address, the link is now in the server’s log.
      </Callout>
    );
  }
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field label="Email" error={errors.email} help={helpOf(sendsMail)}>
        <Input name="email" type="email" autoComplete="email" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Request a link
      </Button>
    </form>
  );
}

/** Undefined while it is unknown if the server sends email. */
function helpOf(sendsMail: boolean | undefined): string | undefined {
  if (sendsMail === undefined) return undefined;
  return sendsMail
    ? 'We will send you a link to choose a new password.'
    : 'This server sends no email. Its operator will give you the link.';
}
