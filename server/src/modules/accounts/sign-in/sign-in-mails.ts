import type { Mail } from '../../../platform/mail/queries.ts';

/** Returns the mail after a sign-up, possibly by a stranger who used this address. */
export function confirmAddressMail({ email }: { email: string }, url: string): Mail {
  return {
    to: email,
    subject: 'Confirm your email address for Bakehouse',
    text: `Hello,

A Bakehouse account was made with this email address. To confirm that it is yours, open this link within a day, in a browser where you are signed in:

${url}

If you did not make this account, ignore this message.
`,
  };
}

/** Returns the mail after a request to reset the password. */
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
