import { setTimeout as pause } from 'node:timers/promises';
import { attacks, type Target } from './attacks.ts';

/*
 * Attacks a server until it is ended: `node attacker.ts '{"attack": …, "atOnce": …, "url": …}'`. A separate
 * process, so that the attack costs the measurement no time.
 */

/** Pause between requests, within the rate limit of a single attacker. */
const PAUSE_MS = 50;

const { attack, atOnce, ...target } = JSON.parse(process.argv[2] ?? '') as Target & {
  attack: string;
  atOnce: number;
};
const strike = attacks[attack]?.(target);
if (!strike) throw new Error(`There is no attack '${attack}'.`);
const goOn = async () => {
  for (;;) {
    // The parent counts calls and failures; the attacker continues after a failure.
    process.stdout.write('.');
    await strike().catch(() => process.stdout.write('!'));
    await pause(PAUSE_MS);
  }
};
await Promise.all(Array.from({ length: atOnce }, goOn));
