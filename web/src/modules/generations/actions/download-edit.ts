import type { Generation } from '@bakehouse/contract/generations';
import { copyText } from '../../../lib/device/copy-text.ts';
import { notify } from '../../../ui/notify.ts';
import { downloadPicture } from './download-picture.ts';

/** Has the browser save the picture. Where that fails it is opened in a new tab, else its address is copied, else shown in an error. */
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

/** Whether the browser has let it. */
function openInNewTab(url: string): boolean {
  const tab = window.open(url, '_blank');
  if (!tab) return false;
  tab.opener = null;
  return true;
}
