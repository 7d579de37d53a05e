import type { Mail } from '../../../platform/mail/queries.ts';

/** To who has forgotten the password, or says so. */
export function resetPasswordMail({ email }: { email: string }, url: string): Mail {
  return {
    to: email,
    subject: 'Choose a new Bakehouse password',
    text: `Hello,

Somebody, most likely you, asked for a new password for your Bakehouse account. To choose one, open this link within an hour:

${url}

Your sessions, linked sign-in methods and API keys end when you do. If you did not ask for this, ignore this message: nothing changes.
`,
  };
}
