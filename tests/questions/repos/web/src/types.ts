export interface Item {
  id: string
}

export interface Reader {
  read(id: string): Item | undefined
}
