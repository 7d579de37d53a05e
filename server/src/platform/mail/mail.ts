import { randomUUID } from 'node:crypto';
import { createTransport, type NodemailerError } from 'nodemailer';
import type { Services } from '../context.ts';
import type { Transaction } from '../db/database.ts';
import { defineJob } from '../jobs/define-job.ts';
import { deleteMail, findMail, insertMail, type Mail } from './queries.ts';

/** Pauses grow to five minutes, so these retries take about six hours. */
const RETRIES = 80;

const SILENCE_MS_MAX = 20_000;

/** Passes one mail to the mail server, and then deletes the mail. */
export const deliverMailJob = defineJob<QueuedMail>({
  name: 'platform.deliver-mail',
  retries: RETRIES,
  run: deliverMail,
  onLost: async ({ db, log }, { id }) => {
    log.error({ part: 'mail', mail_id: id }, 'failed to deliver a mail; giving up');
    await deleteMail(db, id);
  },
});

type QueuedMail = { id: string };

async function deliverMail(
  { config, db, log }: Services,
  { id }: QueuedMail,
  _signal: AbortSignal,
  isLast = false,
): Promise<void> {
  const mail = await findMail(db, id);
  // An earlier attempt has sent the mail, and its worker died before it recorded that.
  if (!mail) return;
  const { to, subject, text } = mail;
  // The settings may have changed after the mail was queued.
  if (!config.mail) throw new Error('No mail server is configured');
  const { host, port, tls, login, from } = config.mail;
  const transport = createTransport({
    host,
    port,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login && { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: SILENCE_MS_MAX,
    greetingTimeout: SILENCE_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    // If the response to an attempt is lost, the mail is sent again. With the same id, mail programs can
    // detect the duplicate.
    await transport.sendMail({ from, to, subject, text, messageId: `<${id}@bakehouse>` });
  } catch (error) {
    if (!isRefused(error) && !isLast) throw error;
    log.error({ err: error, part: 'mail', to, subject }, 'failed to deliver a mail; giving up');
  } finally {
    transport.close();
  }
  await deleteMail(db, id);
}

/**
 * True if the mail server permanently rejected the mail. A rejected login is not permanent, because the
 * operator may fix it.
 */
function isRefused(error: unknown): boolean {
  const { code, permanent } = error as NodemailerError;
  return permanent === true && (code === 'EENVELOPE' || code === 'EMESSAGE');
}

/**
 * Sends a mail once the transaction has committed, and then deletes the mail. Retries for hours while the
 * mail server is unavailable. Without a mail server, logs the mail instead, so that the operator can forward
 * it.
 */
export async function sendMail(
  tx: Transaction,
  { config, jobs, log }: Pick<Services, 'config' | 'jobs' | 'log'>,
  mail: Mail,
): Promise<void> {
  if (config.mail) {
    const id = randomUUID();
    await insertMail(tx, id, mail);
    return jobs.enqueue(tx, deliverMailJob, { id });
  }
  log.warn(
    { part: 'mail', to: mail.to, subject: mail.subject, text: mail.text },
    'mail not sent: no mail server is configured; forward it to the recipient',
  );
}
