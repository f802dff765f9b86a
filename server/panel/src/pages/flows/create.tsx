import { type FormEvent, type ReactNode, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import type { Reference } from '../../ui/line-choice'
import { Button } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import { type Starter, starters } from './starters'

function Form({ title, close, submit, busy, children }: { title: string; close: () => void; submit: () => void; busy: boolean; children: ReactNode }) {
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

function Begin({ value, change }: { value: Starter; change: (next: Starter) => void }) {
  return (
    <Select
      label={t('flows.begin')}
      value={value}
      onChange={(event) => change(event.target.value as Starter)}
      options={[
        { value: 'greet', label: t('flows.greet') },
        { value: 'menu', label: t('flows.menu') },
      ]}
    />
  )
}

export function CreateBot({ lines, close }: { lines: Reference[]; close: () => void }) {
  const go = useGo()
  const [name, setName] = useState('')
  const [line, setLine] = useState(String(lines[0]?.id ?? ''))
  const [begin, setBegin] = useState<Starter>('greet')
  const act = useAct(() => got(api.POST('/bot', { body: { reference: Number(line), name, flow: starters[begin](name) } })), { then: (bot) => go(`/flows/bot/${bot.id}`) })
  return (
    <Form title={t('flows.createBot')} close={close} submit={() => act.mutate(undefined)} busy={act.isPending}>
      <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} required autoFocus />
      <Select label={t('line')} value={line} onChange={(event) => setLine(event.target.value)} options={lines.map((one) => ({ value: String(one.id), label: one.name }))} wrong={act.wrong('reference')} />
      <Begin value={begin} change={setBegin} />
    </Form>
  )
}

export function CreateProject({ close }: { close: () => void }) {
  const [name, setName] = useState('')
  const act = useAct(() => got(api.POST('/aiflow/project', { body: { name, description: '' } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['projects'] })
      close()
    },
  })
  return (
    <Form title={t('flows.createProject')} close={close} submit={() => act.mutate(undefined)} busy={act.isPending}>
      <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} required autoFocus />
    </Form>
  )
}

export function CreateFlow({ project, close }: { project: string; close: () => void }) {
  const go = useGo()
  const [name, setName] = useState('')
  const [begin, setBegin] = useState<Starter>('greet')
  const act = useAct(() => got(api.POST('/aiflow/flow', { body: { projectId: project, name, draft: starters[begin](name) } })), {
    then: async (flow) => {
      await client.invalidateQueries({ queryKey: ['flows', project] })
      go(`/flows/flow/${flow.id}`)
    },
  })
  return (
    <Form title={t('flows.createFlow')} close={close} submit={() => act.mutate(undefined)} busy={act.isPending}>
      <Input label={t('flows.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} required autoFocus />
      <Begin value={begin} change={setBegin} />
    </Form>
  )
}
