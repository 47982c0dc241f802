require_relative "../lib/post"

post = Post.new("A title")
post.publish!
raise "wrong" unless post.slug == "a-title"
