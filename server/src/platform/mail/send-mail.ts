import { randomUUID } from 'node:crypto';
import type { Services } from '../context.ts';
import type { Transaction } from '../db/database.ts';
import { deliverMailJob } from './deliver-mail.ts';
import { insertMail, type Mail } from './queries.ts';

/**
 * Sends a mail after the transaction is committed and then deletes it; retries for hours while the mail
 * server is unavailable. Without a mail server the mail is logged instead, so that the operator can pass it
 * on.
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
    'no mail server is configured, so this mail was not sent; pass it on',
  );
}
