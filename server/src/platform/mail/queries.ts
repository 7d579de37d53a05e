import type { Database, Transaction } from '../db/database.ts';

export type Mail = { to: string; subject: string; text: string };

export async function insertMail(tx: Transaction, id: string, { to, subject, text }: Mail): Promise<void> {
  await tx.insertInto('outgoing_mails').values({ id, recipient: to, subject, body: text }).execute();
}

export async function findMail(db: Database, id: string): Promise<Mail | undefined> {
  return db
    .selectFrom('outgoing_mails')
    .select(['recipient as to', 'subject', 'body as text'])
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function deleteMail(db: Database, id: string): Promise<void> {
  await db.deleteFrom('outgoing_mails').where('id', '=', id).execute();
}
