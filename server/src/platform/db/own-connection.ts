import { connect, type Database } from './database.ts';

/** Gives `work` a connection of its own, without a limit of time: what takes long keeps none from those who answer requests. */
export async function onOwnConnection<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect(url, { poolSize: 1 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
