import { setTimeout as pause } from 'node:timers/promises';
import { attacks, type Target } from './attacks.ts';

/*
 * Attacks a server until it is killed: `node attacker.ts '{"attack": …, "atOnce": …, "url": …}'`. Runs as a
 * separate process, so that the attack does not slow down the measurement.
 */

/** Pause between requests, so that a single attacker stays below the rate limit. */
const PAUSE_MS = 50;

const { attack, atOnce, ...target } = JSON.parse(process.argv[2] ?? '') as Target & {
  attack: string;
  atOnce: number;
};
const strike = attacks[attack]?.(target);
if (!strike) throw new Error(`There is no attack '${attack}'.`);
const goOn = async () => {
  for (;;) {
    // The parent counts calls and failures by these marks. The attacker continues after a failure.
    process.stdout.write('.');
    await strike().catch(() => process.stdout.write('!'));
    await pause(PAUSE_MS);
  }
};
await Promise.all(Array.from({ length: atOnce }, goOn));
