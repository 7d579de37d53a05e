import path from 'node:path';
import { findChromium, HEADLESS_SHELL } from '../../e2e/chromium.ts';
import { run } from '../child.ts';
import { PlainError } from '../plain-error.ts';

const install = ['install', '--yes', '--no-install-recommends'];
const isRoot = process.getuid?.() === 0;

/** Commands that install Chromium, by package manager. They are tried until a browser is found. */
const managers: { program: string; asRoot: boolean; steps: string[][] }[] = [
  { program: 'apt-get', asRoot: true, steps: [['update'], [...install, HEADLESS_SHELL]] },
  // Ubuntu does not have this package.
  { program: 'apt-get', asRoot: true, steps: [[...install, 'chromium']] },
  { program: 'dnf', asRoot: true, steps: [['install', '--assumeyes', 'chromium']] },
  { program: 'pacman', asRoot: true, steps: [['-Sy', '--noconfirm', 'chromium']] },
  { program: 'brew', asRoot: false, steps: [['install', '--cask', 'chromium']] },
];

/**
 * Installs a browser for the journeys from the system's packages, if there is none. As root, which needs no
 * password, also installs the headless shell if there is another browser. Throws a sentence with instructions
 * if there is no browser afterwards.
 */
export async function ensureChromium(): Promise<void> {
  const found = findChromium();
  const isChosen = Boolean(process.env.BAKEHOUSE_CHROMIUM);
  if (found && (isChosen || !isRoot || path.basename(found) === HEADLESS_SHELL)) return;
  console.error('Installing Chromium for the journeys ...');
  for (const { program, asRoot, steps } of managers) {
    if (!(await exists(program))) continue;
    const prefix = asRoot && !isRoot ? ['sudo', '--non-interactive', program] : [program];
    for (const step of steps) {
      const [command = program, ...args] = [...prefix, ...step];
      if ((await run(command, args, { stdout: 'stderr' })) !== 0) break;
    }
    if (findChromium()) return;
  }
  throw new PlainError(
    'The journeys need Chromium, and it could not be installed automatically. ' +
      'Install Chromium or Chrome, or set BAKEHOUSE_CHROMIUM to its path.',
  );
}

async function exists(program: string): Promise<boolean> {
  return run(program, ['--version'], { stdout: 'ignore' }).then(
    (code) => code === 0,
    () => false,
  );
}
