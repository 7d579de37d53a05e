import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { onFileEnd } from '../on-file-end.ts';

export type ReceivedMail = { from: string; to: string[]; head: string; body: string };

type Options = {
  /** Login that clients must send. Defaults to none. */
  login?: { user: string; password: string };
};

/** A mail server on its own port that records the mails it receives. It is closed when the test file ends. */
export async function mailServer({ login }: Options = {}) {
  const mails: ReceivedMail[] = [];
  let refusal: { responseCode: number } | null = null;
  const server = new SMTPServer({
    logger: false,
    authOptional: !login,
    allowInsecureAuth: true,
    disabledCommands: login ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    onAuth: ({ username, password }, _session, done) =>
      username === login?.user && password === login?.password
        ? done(null, { user: username })
        : done(new Error('Wrong password')),
    onData: (stream, { envelope }, done) => {
      const take = (mail: string) => {
        const [head = '', body = ''] = mail.split(/\r\n\r\n([\s\S]*)/);
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to,
          head,
          body: decode(body),
        });
      };
      text(stream).then((mail) => {
        if (refusal) return done(Object.assign(new Error('Not taken'), refusal));
        take(mail);
        done();
      }, done);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFileEnd(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return {
    mails,
    /** Rejects every mail with this code. Null accepts mails again. */
    refuse: (responseCode: number | null) => {
      refusal = responseCode === null ? null : { responseCode };
    },
    /** Mail settings of a server that uses this mail server. */
    settings: {
      host: '127.0.0.1',
      port,
      tls: 'none' as const,
      from: 'Bakehouse <bakehouse@example.com>',
      login: login ?? null,
    },
  };
}

/** Decodes quoted-printable. */
function decode(body: string): string {
  return body
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}
