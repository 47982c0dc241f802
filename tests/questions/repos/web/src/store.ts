import { EventEmitter } from 'events'
import type { Item, Reader } from './types'

export class BaseStore<T> extends EventEmitter {
  protected items: T[] = []

  add(item: T): void {
    this.items.push(item)
    this.emit('added', item)
  }
}

/** Items kept in memory. */
export class MemoryStore extends BaseStore<Item> implements Reader {
  read(id: string): Item | undefined {
    return this.items.find((item) => item.id === id)
  }
}
