import { findChromium } from '../../e2e/chromium.ts';
import { run } from '../child.ts';
import { PlainError } from '../plain-error.ts';

/** The commands that bring Chromium, by package manager; the first manager that there is does it. */
const managers: { program: string; asRoot: boolean; steps: string[][] }[] = [
  {
    program: 'apt-get',
    asRoot: true,
    steps: [['update'], ['install', '--yes', '--no-install-recommends', 'chromium']],
  },
  { program: 'dnf', asRoot: true, steps: [['install', '--assumeyes', 'chromium']] },
  { program: 'pacman', asRoot: true, steps: [['-Sy', '--noconfirm', 'chromium']] },
  { program: 'brew', asRoot: false, steps: [['install', '--cask', 'chromium']] },
];

/** Installs Chromium from the system's packages. Throws the sentence that says what to do where that fails. */
export async function installChromium(): Promise<void> {
  console.error('Installing Chromium for the journeys ...');
  for (const { program, asRoot, steps } of managers) {
    if (!(await exists(program))) continue;
    const prefix = asRoot && process.getuid?.() !== 0 ? ['sudo', '--non-interactive', program] : [program];
    for (const step of steps) {
      const [command = program, ...args] = [...prefix, ...step];
      if ((await run(command, args, { stdout: 'stderr' })) !== 0) break;
    }
    if (findChromium()) return;
  }
  throw new PlainError(
    'The journeys need Chromium, and this machine could not install it by itself. ' +
      'Install Chromium or Chrome, or name its program in BAKEHOUSE_CHROMIUM.',
  );
}

async function exists(program: string): Promise<boolean> {
  return run(program, ['--version'], { stdout: 'ignore' }).then(
    (code) => code === 0,
    () => false,
  );
}
