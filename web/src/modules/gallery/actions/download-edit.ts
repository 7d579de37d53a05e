import type { Generation } from '@bakehouse/contract/generations';
import { copyText } from '../../../lib/device/copy-text.ts';
import { notify } from '../../../ui/notify.ts';
import { downloadPicture } from './download-picture.ts';

/**
 * Downloads the picture. Falls back to opening it in a new tab, then to copying its address, then to an error
 * with the address.
 */
export async function downloadEdit(
  generation: Pick<Generation, 'id' | 'generator' | 'outputs'>,
): Promise<void> {
  const [output] = generation.outputs;
  try {
    await downloadPicture(generation);
  } catch (error) {
    if (!output?.url) throw error;
    const url = new URL(output.url, window.location.href).href;
    if (openInNewTab(url)) return;
    try {
      await copyText(url);
      notify.info('The picture could not be downloaded. Its link was copied.');
    } catch {
      throw new Error(`The picture could not be downloaded. It is at ${url}`, { cause: error });
    }
  }
}

/** Returns true if the browser allowed it. */
function openInNewTab(url: string): boolean {
  const tab = window.open(url, '_blank');
  if (!tab) return false;
  tab.opener = null;
  return true;
}
