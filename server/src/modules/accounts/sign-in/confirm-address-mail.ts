import type { Mail } from '../../../platform/mail/queries.ts';

/** To who has signed up, or whose address somebody else has signed up with. */
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
