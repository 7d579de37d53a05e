import { setTimeout as pause } from 'node:timers/promises';
import { attacks, type Target } from './attacks.ts';

/*
 * A program that attacks a server until it is ended: `node attacker.ts '{"attack": …, "atOnce": …, "url": …}'`. It
 * runs beside the measurement and not in it, so that what it does costs the measurement no time.
 */

/** Between two requests, as far as a limit of requests lets a single attacker go. */
const PAUSE_MS = 50;

const { attack, atOnce, ...target } = JSON.parse(process.argv[2] ?? '') as Target & {
  attack: string;
  atOnce: number;
};
const strike = attacks[attack]?.(target);
if (!strike) throw new Error(`There is no attack '${attack}'.`);
const goOn = async () => {
  for (;;) {
    // Whoever reads this counts the calls, and those of them that failed: an attacker goes on.
    process.stdout.write('.');
    await strike().catch(() => process.stdout.write('!'));
    await pause(PAUSE_MS);
  }
};
await Promise.all(Array.from({ length: atOnce }, goOn));
