/** A repository of this server, as loaded by Hugging Face clients. */
export type HubRepository = {
  type: 'dataset' | 'model';
  /** `namespace/name`. */
  id: string;
  /** Known file paths. */
  paths: readonly string[];
  /** Paths that `datasets` can read. */
  dataPaths: readonly string[];
  /** Diffusers pipeline class of a model. */
  pipeline: string | null;
  /** Repository id of an adapter's base model; null if unknown. */
  base: string | null;
};

type Example = { label: string; code: string };

/** Returns the environment for Hugging Face clients, with a placeholder for the API key. */
export function hubEnvironment(origin: string): string {
  return `export HF_ENDPOINT=${origin}/hub\nexport HF_TOKEN=your-api-key`;
}

/** Returns code that loads a repository: first with the matching library, then as plain files. */
export function hubExamples(repository: HubRepository): Example[] {
  return [...libraryExamples(repository), ...fileExamples(repository)];
}

function libraryExamples({ type, id, paths, dataPaths, pipeline, base }: HubRepository): Example[] {
  if (type === 'dataset') return dataPaths.length > 0 ? [datasetsExample(id, dataPaths)] : [];
  const has = (name: string) => paths.includes(name);
  if (pipeline !== null) return pipeline.startsWith('Paris') ? [] : [diffusersExample(id, pipeline)];
  if (has('adapter_config.json')) return [peftExample(id, base)];
  if (has('config.json') && paths.some((path) => path.endsWith('.safetensors')))
    return [transformersExample(id)];
  return [];
}

/** File names from which `datasets` infers splits. */
const SPLIT = /(^|[/._ -])(train|training|test|testing|eval|evaluation|dev|val|valid|validation)([/._ -]|$)/i;

function datasetsExample(id: string, dataPaths: readonly string[]): Example {
  const [first = ''] = dataPaths;
  const isPlain = dataPaths.length === 1 || dataPaths.every((path) => SPLIT.test(path));
  const more = isPlain ? '' : `, data_files=${JSON.stringify(first)}`;
  return {
    label: 'datasets',
    code: lines(
      'from datasets import load_dataset',
      '',
      `data = load_dataset(${text(id)}${more})`,
      'print(data)',
    ),
  };
}

const ASK = [
  'inputs = tokenizer("Bread is made of", return_tensors="pt")',
  'answer = model.generate(**inputs, max_new_tokens=40)',
  'print(tokenizer.decode(answer[0], skip_special_tokens=True))',
];

function transformersExample(id: string): Example {
  return {
    label: 'transformers',
    code: lines(
      'from transformers import AutoModelForCausalLM, AutoTokenizer',
      '',
      `tokenizer = AutoTokenizer.from_pretrained(${text(id)})`,
      `model = AutoModelForCausalLM.from_pretrained(${text(id)})`,
      ...ASK,
    ),
  };
}

function peftExample(id: string, base: string | null): Example {
  const load =
    base === null
      ? [
          'from peft import AutoPeftModelForCausalLM',
          'from transformers import AutoTokenizer',
          '',
          `model = AutoPeftModelForCausalLM.from_pretrained(${text(id)})`,
        ]
      : [
          'from peft import PeftModel',
          'from transformers import AutoModelForCausalLM, AutoTokenizer',
          '',
          `base = AutoModelForCausalLM.from_pretrained(${text(base)})`,
          `model = PeftModel.from_pretrained(base, ${text(id)})`,
        ];
  return {
    label: 'peft',
    code: lines(...load, `tokenizer = AutoTokenizer.from_pretrained(${text(id)})`, ...ASK),
  };
}

function diffusersExample(id: string, pipeline: string): Example {
  const edits = pipeline.includes('Kontext');
  return {
    label: 'diffusers',
    code: lines(
      'from diffusers import DiffusionPipeline',
      ...(edits ? ['from diffusers.utils import load_image'] : []),
      '',
      `pipeline = DiffusionPipeline.from_pretrained(${text(id)})`,
      edits
        ? 'picture = pipeline(image=load_image("bread.png"), prompt="A darker crust").images[0]'
        : 'picture = pipeline("A loaf of rye bread").images[0]',
      `picture.save(${text(edits ? 'darker.png' : 'bread.png')})`,
    ),
  };
}

function fileExamples({ type, id, paths }: HubRepository): Example[] {
  const [first] = paths;
  const isDataset = type === 'dataset';
  const folder = id.split('/').at(-1) ?? id;
  const url = `$HF_ENDPOINT/${isDataset ? 'datasets/' : ''}${id}/resolve/main/`;
  return [
    {
      label: 'huggingface_hub',
      code: lines(
        'from huggingface_hub import snapshot_download',
        '',
        `folder = snapshot_download(${text(id)}${isDataset ? ', repo_type="dataset"' : ''})`,
        'print(folder)',
      ),
    },
    {
      label: 'hf',
      code: `hf download ${id}${isDataset ? ' --repo-type dataset' : ''} --local-dir ${folder}`,
    },
    ...(first === undefined
      ? []
      : [
          {
            label: 'curl',
            code: lines(
              'curl -L -O -H "Authorization: Bearer $HF_TOKEN" \\',
              `  "${url}${first.split('/').map(encodeURIComponent).join('/')}"`,
            ),
          },
        ]),
  ];
}

function lines(...all: string[]): string {
  return all.join('\n');
}

/** Returns a Python string literal. */
function text(value: string): string {
  return JSON.stringify(value);
}
