import { type FormEvent, type ReactNode, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import type { Reference } from '../../ui/reference-choice'
import { Button, Notice } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { Gallery, made } from './gallery'
import { blankFunction, type Starter } from './starters'

function Form({ title, close, submit, busy, wrong, children }: { title: string; close: () => void; submit: () => void; busy: boolean; wrong: string | undefined; children: ReactNode }) {
  return (
    <Dialog title={title} close={close}>
      <form
        className="stack"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          submit()
        }}
      >
        {children}
        {wrong && <Notice tone="bad">{wrong}</Notice>}
        <div className="row">
          <Button type="submit" tone="main" busy={busy}>
            {title}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** elsewhere is what is wrong with a request and belongs to no field that is shown. */
const elsewhere = (errors: { location: string; message: string }[] | undefined, shown: string[]) => {
  const one = errors?.find((e) => !shown.some((name) => e.location === `body.${name}`))
  return one && `${one.location} ${one.message}`
}

export function CreateBot({ references, begin: first, close }: { references: Reference[]; begin?: Starter['id']; close: () => void }) {
  const go = useGo()
  const [begin, setBegin] = useState<Starter['id']>(first ?? 'menu')
  const [name, setName] = useState('')
  const [reference, setReference] = useState(String(references[0]?.id ?? ''))
  const act = useAct(() => got(api.POST('/bot', { body: { reference: Number(reference), name, flow: made(begin, name) } })), {
    then: async (bot) => {
      await client.invalidateQueries({ queryKey: ['bots'] })
      go(`/flows/bot/${bot.id}`)
    },
  })
  return (
    <Form title={t('flows.createBot')} close={close} submit={() => act.mutate(undefined)} busy={act.isPending} wrong={elsewhere(act.problem?.errors, ['name', 'reference'])}>
      <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} maxLength={200} required autoFocus />
      <Select label={t('reference')} value={reference} onChange={(event) => setReference(event.target.value)} options={references.map((one) => ({ value: String(one.id), label: one.name }))} wrong={act.wrong('reference')} />
      <Gallery value={begin} choose={setBegin} />
    </Form>
  )
}

export function CreateProject({ close }: { close: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const act = useAct(() => got(api.POST('/aiflow/project', { body: { name, description } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['projects'] })
      close()
    },
  })
  return (
    <Form title={t('flows.createProject')} close={close} submit={() => act.mutate(undefined)} busy={act.isPending} wrong={elsewhere(act.problem?.errors, ['name', 'description'])}>
      <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} maxLength={200} required autoFocus />
      <Input label={t('flows.description')} value={description} onChange={(event) => setDescription(event.target.value)} wrong={act.wrong('description')} />
    </Form>
  )
}

export function CreateFlow({ project, close }: { project: string; close: () => void }) {
  const go = useGo()
  const [name, setName] = useState('')
  const [kind, setKind] = useState('flow')
  const [begin, setBegin] = useState<Starter['id']>('menu')
  const act = useAct(() => got(api.POST('/aiflow/flow', { body: { projectId: project, name, draft: kind === 'flow' ? made(begin, name) : blankFunction(name) } })), {
    then: async (flow) => {
      await client.invalidateQueries({ queryKey: ['flows', project] })
      go(`/flows/flow/${flow.id}`)
    },
  })
  return (
    <Form title={t('flows.createFlow')} close={close} submit={() => act.mutate(undefined)} busy={act.isPending} wrong={elsewhere(act.problem?.errors, ['name'])}>
      <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} maxLength={200} required autoFocus />
      <Select
        label={t('flows.kind')}
        hint={kind === 'function' ? t('flows.functionHint') : undefined}
        value={kind}
        onChange={(event) => setKind(event.target.value)}
        options={[
          { value: 'flow', label: t('flows.kindFlow') },
          { value: 'function', label: t('flows.kindFunction') },
        ]}
      />
      {kind === 'flow' && <Gallery value={begin} choose={setBegin} />}
    </Form>
  )
}
