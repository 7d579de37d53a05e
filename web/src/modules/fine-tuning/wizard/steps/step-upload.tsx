import { formatBytes } from '@bakehouse/contract/labels';
import { X } from 'lucide-react';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { notify } from '../../../../ui/notify.ts';
import { AssetFileDrop } from '../../../datasets/files/asset-file-drop.tsx';
import { ModelFilesHelp } from '../../../datasets/files/model-files-help.tsx';
import { UploadList } from '../../../datasets/files/uploads/upload-list.tsx';
import { readBaseModelType } from '../suggest.ts';
import type { Wizard } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'uploads' | 'dispatch'> };

/** Accepted model files. */
export const MODEL_FILES_HINT = 'safetensors or GGUF, tokenizer.json, config.json';

export function StepUpload({ wizard: { state, problems, uploads, dispatch } }: Props) {
  const { files } = state;
  const onChange = (chosen: ChosenFile[]) => dispatch({ do: 'change', values: { files: chosen } });
  // Uploading, once the model is being created.
  if (uploads.length > 0) return <UploadList uploads={uploads} />;
  const add = (more: ChosenFile[]) => {
    const paths = new Set(more.map(({ path }) => path));
    onChange([...files.filter(({ path }) => !paths.has(path)), ...more]);
    void readBaseModelType(more).then((type) => {
      if (!type || type === state.baseModelType) return;
      dispatch({ do: 'change', values: { baseModelType: type } });
      notify.info(`Base model type set to ${type} from config.json`);
    });
  };
  return (
    <Field label="Files" error={problems.files}>
      <AssetFileDrop hint={MODEL_FILES_HINT} help={<ModelFilesHelp />} onFiles={add} />
      {files.length > 0 && (
        <ul className="mt-2 divide-y divide-line rounded-xl border border-line">
          {files.map((one) => (
            <li key={one.path} className="flex items-center gap-3 py-1.5 pr-2 pl-3.5">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{one.path}</span>
              <span className="text-[0.8125rem] text-muted tabular-nums">{formatBytes(one.file.size)}</span>
              <Button
                variant="ghost"
                size="icon-sm"
                aria-label={`Remove ${one.path}`}
                onClick={() => onChange(files.filter((other) => other !== one))}
              >
                <X aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Field>
  );
}
